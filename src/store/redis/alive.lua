-- Says that a replica is alive, and counts those that said so lately.
--
-- Promises: a replica that stops saying so is gone after the horizon; the set expires when nobody says so any more.
--
-- KEYS  1 the set of replicas
-- ARGV  1 replica   2 horizon, ms
-- Returns the count.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local horizon = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - horizon))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', horizon * 2))
return redis.call('ZCARD', KEYS[1])
