-- Says that a replica is alive, and which pools it uses, and counts the replicas that said so lately.
--
-- Promises: a replica that stops saying so is gone after the horizon; so is a pool that no replica names; both sets expire
-- when nobody says so any more. The channel is told exactly when one came or went: "alive 1 COUNT".
--
-- KEYS  1 the set of replicas   2 the set of pools, in the same slot
-- ARGV  1 replica   2 horizon, ms   3 channel   4 and later: tag and name of a pool, a space between
-- Returns the count of replicas.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local horizon = tonumber(ARGV[2])
local at, gone = string.format('%.0f', now), string.format('%.0f', now - horizon)
local changes = redis.call('ZADD', KEYS[1], at, ARGV[1])
for i = 4, #ARGV do redis.call('ZADD', KEYS[2], at, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', gone)
changes = changes + redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', gone)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, string.format('%.0f', horizon * 2)) end
local count = redis.call('ZCARD', KEYS[1])
if changes > 0 then redis.call('PUBLISH', ARGV[3], 'alive 1 ' .. count) end
return count
