import { PERSON_WRITES_MS } from '../../access/rate-limiter.port.ts'
import { type Script, scriptOf } from './redis.ts'

/** A node counts as using the shared buckets for this long after its last JOIN. */
const ALIVE_MS = 750
/** After an outage all nodes reconnect within this time of the first one: the pause between two attempts plus the duration of one. */
const RETURN_MS = 1_500
/** Buckets with a lower rate, in tokens per second, never start empty: nobody should wait a minute because the bus was restarted. */
export const SLOW_PER_SEC = 1

/** Tokens granted in advance to a person lapse after this time. Those of other takers lapse sooner. */
export const PERSON_GRANT_MS = 2_000

/** Sets `now` to the server's time in ms, with fractions, or to the time that a test passes as the last argument. */
const NOW = `
local now = tonumber(ARGV[#ARGV])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end`

/**
 * Sets `since` to the time at which the buckets begin to count, in ms of the server; the buckets are empty at that time. Sets it
 * to nil when the key has no plausible value: the server was emptied, its clock went back, or somebody else wrote the key.
 */
const SINCE = `
local since = redis.pcall('GET', KEYS[2])
since = type(since) == 'string' and tonumber(since) or nil
if since and not (since <= now + ${RETURN_MS}) then since = nil end`

/**
 * Announces that a node uses the shared buckets, and returns when these begin to count. After an outage of all nodes they begin only some time later.
 * Until then each node spends its own part, so that no node takes from the shared buckets while another still spends its part. An outage of one node
 * changes nothing for the others.
 *
 * Keys: `bus:alive`; `bus:since`. Arguments: whether this node `starts`, `returns` from an outage or `stays`; the time in ms of the server after
 * which this call has no effect, 0 for never; the time. Answers: ms until the buckets count; the server's time.
 */
export const JOIN: Script = scriptOf(`${NOW}
local stale = tonumber(ARGV[2])
if stale > 0 and now > stale then return {0, string.format('%.17g', now)} end
${SINCE}
if not since then
  since = ARGV[1] == 'stays' and now or now + ${RETURN_MS}
elseif ARGV[1] == 'returns' and redis.call('EXISTS', KEYS[1]) == 0 then
  since = math.max(since, now + ${RETURN_MS})
end
redis.call('SET', KEYS[2], string.format('%.17g', since))
redis.call('SET', KEYS[1], '1', 'PX', ${ALIVE_MS})
return {math.max(0, math.ceil(since - now)), string.format('%.17g', now)}
`)

/**
 * Sets `out` to the number of tokens that nodes hold in advance. A holder is a node and a kind of taker; its field has its count and the time at
 * which the count lapses. Each request replaces the field of its holder, so the count of a lost message or a dead node lapses by itself. A bucket
 * fills only up to the burst less `out`, so that nobody gets more than the burst at a time.
 */
const OUT = `
local out = held
local fields = redis.pcall('HGETALL', KEYS[3])
if fields.err then
  redis.call('DEL', KEYS[3])
  fields = {}
end
local known = false
for i = 1, #fields, 2 do
  local count, lapses = string.match(fields[i + 1], '^(%d+) (%S+)$')
  if fields[i] == holder then known = true
  elseif count and tonumber(lapses) and tonumber(lapses) > now then out = out + tonumber(count)
  else redis.call('HDEL', KEYS[3], fields[i]) end
end
local function keep(count, lasts_ms)
  if count > 0 then
    redis.call('HSET', KEYS[3], holder, string.format('%d %.17g', count, now + lasts_ms))
    redis.call('PEXPIRE', KEYS[3], ${PERSON_GRANT_MS})
  elseif known then
    redis.call('HDEL', KEYS[3], holder)
  end
end`

/**
 * Takes tokens from a bucket. The computation is that of `drivers/memory-limits.ts`, which passes the same contract. [LIM-2, AG-86]
 *
 * Keys: the bucket; `bus:since`; the tokens held in advance. Arguments: tokens per second; burst; the fewest tokens that are of
 * use; how many are asked for; how many more may be given in advance; the kind of taker; the percentage of the burst that an agent
 * leaves; the holder; how many tokens it holds; for how many ms it may hold those given now; the time. Answers: tokens given, -1
 * while the buckets do not count yet; ms until the fewest useful tokens are available, or until the buckets count; how many tokens
 * are left for all; the server's time.
 */
export const TAKE: Script = scriptOf(`${NOW}${SINCE}
if not since then
  -- What was taken before is not known.
  since = now
  redis.call('SET', KEYS[2], string.format('%.17g', since))
end
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local least, asked, welcome = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local taker, share = ARGV[6], tonumber(ARGV[7])
local holder, held, lasts_ms = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
${OUT}
local stamp = string.format('%.17g', now)
if since > now then return {-1, math.ceil(since - now), '0', stamp} end

local AGENT, RECENT = math.min(rate, math.max(1, rate / 8)), ${PERSON_WRITES_MS}
local KEPT = math.max(5, AGENT)
local tokens, kept, at, person, agent
local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'string' then
  local n = {}
  for word in string.gmatch(stored, '%S+') do n[#n + 1] = tonumber(word) end
  if #n == 5 then tokens, kept, at, person, agent = n[1], n[2], n[3], n[4], n[5] end
elseif stored then
  redis.call('DEL', KEYS[1])
end
local function recent(ms) return ms > 0 and now - ms < RECENT end
local since_full = math.min(burst - out, rate < ${SLOW_PER_SEC} and burst or (now - since) / 1000 * rate)
if not tokens then
  tokens, kept, person, agent = since_full, 0, 0, 0
elseif at < since and rate >= ${SLOW_PER_SEC} then
  tokens, kept = since_full, 0
else
  local seconds = math.max(0, now - at) / 1000
  local before = kept
  kept = (recent(person) and recent(agent)) and math.min(KEPT, kept + seconds * AGENT) or 0
  tokens = math.min(burst - out, tokens + seconds * rate + before - kept)
end

local leaves = 0
if taker == 'agent' and recent(person) then
  leaves = math.floor(burst * share / 100)
  -- However large the share of people is, an agent gets tokens of a bucket that is as full as it can be.
  if out > 0 then leaves = math.max(0, math.min(leaves, math.floor(burst - out - KEPT))) end
end
local given, ahead, from_all = 0, 0, tokens - least >= leaves
if asked > 0 and from_all then
  given = math.min(asked, math.floor(tokens - leaves))
  if given == asked and not (taker == 'agent' and recent(person)) then
    ahead = math.max(0, math.min(welcome, math.floor((tokens - given) / 2), math.floor(burst / 2 - out)))
    given = given + ahead
  end
  tokens = tokens - given
elseif asked > 0 and taker == 'agent' and kept >= least then
  given = math.min(asked, math.floor(kept))
  kept = kept - given
end
if asked > 0 then
  if taker == 'person' and from_all then
    person = math.min(now + ${PERSON_GRANT_MS}, math.max(person, ahead > 0 and now + ${PERSON_GRANT_MS} or now))
  end
  if taker == 'agent' and not from_all and leaves > 0 then agent = now end
  local idle = math.max(person > 0 and person or -RECENT, agent > 0 and agent or -RECENT) + RECENT
  local full = math.max(now + (burst - tokens - kept) / rate * 1000, idle)
  redis.call('SET', KEYS[1], string.format('%.17g %.17g %.17g %.17g %.17g', tokens, kept, now, person, agent),
    'PX', string.format('%d', math.min(1e12, math.max(1000, math.ceil(full - now)))))
end
-- What the holder had is spent by what it asks for, unless that is more than there is.
if asked > 0 then keep(given >= asked and ahead or held, lasts_ms) end
if given > 0 or asked == 0 then return {given, 0, string.format('%.17g', tokens), stamp} end

local shared = recent(person) and recent(agent)
local missing = least + leaves - tokens
local wait
if not shared then
  wait = missing / rate * 1000
else
  local until_kept = (KEPT - kept) / AGENT * 1000
  local slow = rate - AGENT
  local gained = slow * until_kept / 1000
  wait = gained >= missing and missing / slow * 1000 or until_kept + (missing - gained) / rate * 1000
  if taker == 'agent' then wait = math.min(wait, (least - kept) / AGENT * 1000) end
end
return {0, math.max(1, math.ceil(wait)), string.format('%.17g', tokens), stamp}
`)

/**
 * Returns tokens that a holder has in advance to the bucket. A bucket that was emptied after the tokens were taken gets nothing.
 *
 * Keys: the bucket; `bus:since`; the tokens held in advance. Arguments: burst; how many tokens; when they were taken, in ms of the server; the
 * holder; the time.
 */
export const GIVE_BACK: Script = scriptOf(`${NOW}
local burst, holder, held = tonumber(ARGV[1]), ARGV[4], 0
${OUT}
keep(0, 0)
local stored = redis.pcall('GET', KEYS[1])
local since = tonumber(redis.call('GET', KEYS[2]) or '')
local taken = tonumber(ARGV[3])
if type(stored) ~= 'string' or not since or taken < since then return 0 end
local tokens, rest = string.match(stored, '^(%S+)( .*)$')
tokens = tonumber(tokens)
if not tokens then return 0 end
redis.call('SET', KEYS[1], string.format('%.17g', math.min(burst - out, tokens + tonumber(ARGV[2]))) .. rest, 'KEEPTTL')
return 1
`)
