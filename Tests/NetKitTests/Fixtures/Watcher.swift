import NetKit

/// Writes down the course of calls, but not what each exchange meets on its way.
struct Watcher: Observer {
    let events: Collected<Event>

    func observe(_ event: Event) {
        if !event.isDetail {
            events.append(event)
        }
    }
}
