-- Says that a replica is alive, and which pools it uses, and counts the replicas that said so lately.
--
-- Promises: a replica that stops saying so is gone after the horizon; so is a pool that no replica names; all sets expire
-- when nobody says so any more. The channel is told exactly when one came or went: "alive 1 COUNT". Replicas that found the
-- server again, one up to the meeting time after the other, are all told the same moment to begin together.
--
-- KEYS  1 the set of replicas   2 the set of pools   3 when a replica found the server again, all in the same slot
-- ARGV  1 replica   2 horizon, ms   3 channel   4 meeting time, ms, for a replica that found the server again; else 0
--       5 and later: tag and name of a pool, a space between
-- Returns the count of replicas, and in how many milliseconds those begin together that found the server again.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local horizon, meeting = tonumber(ARGV[2]), tonumber(ARGV[4])
local whole = function(number) return string.format('%.0f', number) end
local at, gone = whole(now), whole(now - horizon)
local changes = redis.call('ZADD', KEYS[1], at, ARGV[1])
for i = 5, #ARGV do redis.call('ZADD', KEYS[2], at, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', gone)
changes = changes + redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', gone)
redis.call('PEXPIRE', KEYS[1], whole(horizon * 2))
redis.call('PEXPIRE', KEYS[2], whole(horizon * 2))
local begins_in = 0
if meeting > 0 then
  local found = tonumber(redis.call('HMGET', KEYS[3], 'at')[1] or 0) or 0
  if found > now or now - found >= meeting or found ~= found then
    found = now
    redis.call('HSET', KEYS[3], 'at', at)
    redis.call('PEXPIRE', KEYS[3], whole(horizon))
  end
  begins_in = found + meeting - now
end
local count = redis.call('ZCARD', KEYS[1])
if changes > 0 then redis.call('PUBLISH', ARGV[3], 'alive 1 ' .. count) end
return { count, begins_in }
