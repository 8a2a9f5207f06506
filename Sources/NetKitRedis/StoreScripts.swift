#if Redis
/// The scripts of ``RedisCacheStore``.
///
/// Keys: `{prefix}:e<name>` is an entry, `{prefix}:t<name>` and `{prefix}:h<name>` are the sets of the entries with a
/// tag or a host, `{prefix}:i` is the sorted set of all entries by their end. A server that is full may evict any of
/// them. An entry that is not in all of its sets counts as missing, because it could not be invalidated.
enum StoreScripts {
    /// The length of a set's name: its kind and 40 digits.
    static let setNameBytes = 41

    /// P is the prefix. `sets` calls a function with each set of an entry. `free` removes a key of another type.
    private static let common = """
        local P = ARGV[1]
        local function now()
          local t = redis.call('TIME')
          return t[1] * 1000 + math.floor(t[2] / 1000)
        end
        local function sets(text, f)
          for i = 1, #text, \(setNameBytes) do f(P .. string.sub(text, i, i + \(setNameBytes - 1))) end
        end
        local function free(key, kind)
          local t = redis.call('TYPE', key).ok
          if t ~= kind and t ~= 'none' then redis.call('DEL', key) return false end
          return true
        end
        local function drop(name)
          local t = redis.pcall('HGET', P .. 'e' .. name, 't')
          if type(t) == 'string' then sets(t, function(key) redis.pcall('SREM', key, name) end) end
          redis.pcall('ZREM', P .. 'i', name)
          return redis.call('DEL', P .. 'e' .. name)
        end

        """

    /// Keys: entry. Arguments: prefix, name. Returns head, sets and body; 0 if there is none, 1 if it was damaged.
    static let get = RedisScript(
        common + """
            if not free(KEYS[1], 'hash') then return 1 end
            local f = redis.call('HMGET', KEYS[1], 'h', 't', 'b')
            if not f[1] and not f[2] and not f[3] then return 0 end
            local intact = f[1] and f[2] and f[3] and tonumber(redis.pcall('ZSCORE', P .. 'i', ARGV[2]) or nil)
            if intact then
              sets(f[2], function(key) if redis.pcall('SISMEMBER', key, ARGV[2]) ~= 1 then intact = false end end)
            end
            if not intact then drop(ARGV[2]) return 1 end
            return f
            """)

    /// Keys: entry, index. Arguments: prefix, name, head, sets, body, lifetime in milliseconds, message. What can fail
    /// for lack of memory comes first, so that a failure changes nothing.
    static let put = RedisScript(
        common + """
            local life = tonumber(ARGV[6])
            if life <= 0 then
              drop(ARGV[2])
            else
              local function extend(key)
                if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
              end
              free(KEYS[1], 'hash')
              free(KEYS[2], 'zset')
              local time = now()
              redis.call('ZADD', KEYS[2], time + life, ARGV[2])
              extend(KEYS[2])
              local old = redis.call('HGET', KEYS[1], 't')
              if old and old ~= ARGV[4] then sets(old, function(key) redis.pcall('SREM', key, ARGV[2]) end) end
              sets(ARGV[4], function(key)
                free(key, 'set')
                redis.call('SADD', key, ARGV[2])
                extend(key)
              end)
              redis.call('HSET', KEYS[1], 'h', ARGV[3], 't', ARGV[4], 'b', ARGV[5])
              redis.call('PEXPIRE', KEYS[1], life)
              redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', time)
            end
            redis.call('PUBLISH', P .. 'c', ARGV[7])
            return 1
            """)

    /// Keys: entry. Arguments: prefix, name, message. Returns the number of removed entries.
    static let remove = RedisScript(
        common + """
            local removed = free(KEYS[1], 'hash') and drop(ARGV[2]) or 0
            redis.call('PUBLISH', P .. 'c', ARGV[3])
            return removed
            """)

    /// Removes an entry if it still has this head. Keys: entry. Arguments: prefix, name, head.
    static let removeDamaged = RedisScript(
        common + """
            if free(KEYS[1], 'hash') and redis.call('HGET', KEYS[1], 'h') == ARGV[3] then return drop(ARGV[2]) end
            return 0
            """)

    /// Removes some entries of a set. Keys: set. Arguments: prefix, name of the set, count, message. Returns the
    /// numbers of removed entries and of those that are left.
    static let removeSet = RedisScript(
        common + """
            if ARGV[4] ~= '' then redis.call('PUBLISH', P .. 'c', ARGV[4]) end
            if not free(KEYS[1], 'set') then return {0, 0} end
            local removed = 0
            for _, name in ipairs(redis.call('SPOP', KEYS[1], ARGV[3])) do
              local t, isMember = redis.pcall('HGET', P .. 'e' .. name, 't'), false
              if type(t) == 'string' then
                sets(t, function(key) if key == P .. ARGV[2] then isMember = true end end)
              end
              if isMember then removed = removed + drop(name) end
            end
            return {removed, redis.call('SCARD', KEYS[1])}
            """)

    /// Removes some entries. Keys: index. Arguments: prefix, count, message. Returns the numbers of removed entries and
    /// of those that are left.
    static let removeAll = RedisScript(
        common + """
            if ARGV[3] ~= '' then redis.call('PUBLISH', P .. 'c', ARGV[3]) end
            if not free(KEYS[1], 'zset') then return {0, 0} end
            local removed = 0
            for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)) do removed = removed + drop(name) end
            return {removed, redis.call('ZCARD', KEYS[1])}
            """)

    /// Keys: index. Arguments: prefix, first, count. Returns the number of names, then name, head, sets and size of the
    /// fields of each entry.
    static let list = RedisScript(
        common + """
            if not free(KEYS[1], 'zset') then return {0} end
            local names = redis.call('ZRANGEBYSCORE', KEYS[1], now(), '+inf', 'LIMIT', ARGV[2], ARGV[3])
            local found = {#names}
            for _, name in ipairs(names) do
              local key = P .. 'e' .. name
              local f = redis.pcall('HMGET', key, 'h', 't')
              if f[1] and f[2] then
                for _, value in ipairs({name, f[1], f[2], #f[1] + redis.call('HSTRLEN', key, 'b')}) do
                  found[#found + 1] = value
                end
              end
            end
            return found
            """)
}
#endif
