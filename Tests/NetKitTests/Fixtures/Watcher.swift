import NetKit

/// Records the events of calls, except the details of each transfer.
struct Watcher: Observer {
    let events: Collected<Event>

    func observe(_ event: Event) {
        if !event.isDetail {
            events.append(event)
        }
    }
}
