/**
 * The state of a provider's pace: a hash with the earliest times of the next request (`next`, and `next_tokens` by tokens), a
 * time until which nothing is sent (`blocked`), the requests per minute that its refusals taught (`learned`, last at `taught`), the
 * interval that its headers advised (`slow` until `slow_until`), and how many requests were sent in the current minute and the one
 * before (`count` since `began`, `before`). All times are those of Redis, in milliseconds, or those of a clock that a test drives.
 */
const state = `
local time = redis.call('TIME')
local now = tonumber(ARGV[2]) or time[1] * 1000 + time[2] / 1000
local minute = tonumber(ARGV[1])
local key = KEYS[1]
local function field(name) return tonumber(redis.call('HGET', key, name) or 0) end
local began, count, before = field('began'), field('count'), field('before')
if now - began >= minute then
  before = now - began < 2 * minute and count or 0
  began, count = now, 0
end
local function keep()
  redis.call('HSET', key, 'began', began, 'count', count, 'before', before)
  redis.call('PEXPIRE', key, 15 * minute)
end`;

/**
 * Reserves the time of a request: `minute, now, requests per minute (0: not configured), tokens per minute, tokens, requests that
 * were sent without asking`. Returns the milliseconds until that time, and the interval between two requests. A little less
 * than what is allowed is used, since a request may arrive earlier after the one before it than it was sent. One request that
 * came too late for its time is made up for. What a refusal taught may have held for that minute only, so it is tried whether more is
 * accepted: after five minutes a tenth more in each further one, and after an hour without a refusal it is forgotten.
 */
export const admitScript = `${state}
local requests, tokens, cost, others = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local learned, blocked = field('learned'), field('blocked')
local minutes = (now - field('taught')) / minute
if minutes > 60 then learned = 0 elseif minutes > 5 then learned = learned * 1.1 ^ (minutes - 5) end
local rate = requests
if learned > 0 and (rate == 0 or learned < rate) then rate = learned end
local interval = rate > 0 and minute / (rate * 0.985) or 0
if field('slow_until') > now then interval = math.max(interval, field('slow')) end
if interval == 0 and blocked > now then interval = minute / 1200 end
local at, next = math.max(now, blocked), field('next')
if interval > 0 then at = math.max(at, next) end
if tokens > 0 then
  at = math.max(at, field('next_tokens') - minute * 0.08)
  redis.call('HSET', key, 'next_tokens', math.max(at, field('next_tokens')) + cost * minute / (tokens * 0.9))
end
if interval > 0 then redis.call('HSET', key, 'next', math.max(next, at - interval) + interval) end
count = count + 1 + others
keep()
return { math.ceil(at - now), math.max(math.ceil(interval), tokens > 0 and 1 or 0) }`;

/**
 * A refusal: `minute, now, milliseconds to wait, requests that were sent without asking`. What was accepted within a minute is what the key allows; fewer than 20 say
 * nothing about it.
 */
export const refuseScript = `${state}
count = math.max(0, count + tonumber(ARGV[4]) - 1)
local accepted = math.floor(count + before * math.max(0, 1 - (now - began) / minute))
if accepted >= 20 then redis.call('HSET', key, 'learned', accepted, 'taught', now) end
redis.call('HSET', key, 'blocked', math.max(field('blocked'), now + tonumber(ARGV[3])))
keep()
return 0`;

/** Advice of a reply: `minute, now, interval, how long it holds, requests that were sent without asking`. */
export const adviseScript = `${state}
count = count + tonumber(ARGV[5])
redis.call('HSET', key, 'slow', ARGV[3], 'slow_until', now + tonumber(ARGV[4]))
keep()
return 0`;

/** A correction: `minute, now, tokens per minute, tokens`. */
export const correctScript = `${state}
local next = math.max(field('next_tokens'), now) + tonumber(ARGV[4]) * minute / (tonumber(ARGV[3]) * 0.9)
redis.call('HSET', key, 'next_tokens', next)
keep()
return 0`;
