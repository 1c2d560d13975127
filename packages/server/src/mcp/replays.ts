import { createHash } from 'node:crypto'
import { type Once, REMEMBERED_MS, reusedRequest } from '../documents/once.ts'
import type { Clock } from '../kernel/clock.ts'
import { refusal } from './results.ts'
import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

/**
 * Limit on the characters of remembered results. Above the limit the oldest calls are forgotten here; their repeats still find them in
 * the store.
 */
const MAX_CHARACTERS = 32 * 1_048_576
/** Characters that an entry counts in addition to its result. */
const ENTRY_CHARACTERS = 512

export interface RepeatableCall {
  /** Identifies the caller with its workspace. */
  readonly caller: string
  readonly tool: string
  readonly requestId: string
  readonly args: JsonObject
}

/**
 * Lets a caller repeat a write whose answer it did not get. This memory answers faster than the store, and lets a repeat wait for the first
 * call. After a restart it is empty, and the repeated write finds the first one in the store. [TOOL-22]
 */
export interface Replays {
  /**
   * Returns the outcome of `run`, or the first success under the same request id. While the first call runs, a repeat waits for it.
   */
  once(call: RepeatableCall, run: (once: Once) => Promise<Outcome>): Promise<Outcome>
}

type Outcome = ToolSuccess | ToolFailure

interface Remembered {
  readonly digest: string
  /** Resolves to `null` when the call was cancelled or failed, or was itself a repeat: only the store knows how long that is kept. */
  readonly success: Promise<ToolSuccess | null>
  readonly untilMs: number
  characters: number
}

/** `maxCharacters` limits the remembered results, counted as JSON. */
export function createReplays(clock: Clock, maxCharacters = MAX_CHARACTERS): Replays {
  /** Remembered calls, oldest first. */
  const remembered = new Map<string, Remembered>()
  let characters = 0

  function forget(key: string, entry: Remembered): void {
    if (remembered.get(key) !== entry) return
    remembered.delete(key)
    characters -= entry.characters
  }

  function forgetOld(): void {
    const nowMs = clock.monotonicMs()
    for (const [key, entry] of remembered) {
      if (entry.untilMs > nowMs && characters <= maxCharacters) return
      forget(key, entry)
    }
  }

  function grow(key: string, entry: Remembered, by: number): void {
    if (remembered.get(key) !== entry) return
    entry.characters += by
    characters += by
    forgetOld()
  }

  async function first(once: Once, run: (once: Once) => Promise<Outcome>): Promise<Outcome> {
    const { request: key, digest } = once
    const running = run(once)
    const success = running.then(
      (outcome) => (outcome.kind === 'success' && outcome.structured['replayed'] !== true ? outcome : null),
      () => null,
    )
    const entry: Remembered = { digest, success, untilMs: clock.monotonicMs() + REMEMBERED_MS, characters: 0 }
    remembered.set(key, entry)
    grow(key, entry, ENTRY_CHARACTERS)
    const done = await success
    if (done === null) forget(key, entry)
    else grow(key, entry, JSON.stringify(done.structured).length)
    return running
  }

  async function once(call: RepeatableCall, run: (once: Once) => Promise<Outcome>): Promise<Outcome> {
    forgetOld()
    const { caller, tool, requestId, args } = call
    const key = digestOf([caller, tool, requestId])
    const digest = digestOf(args)
    const earlier = remembered.get(key)
    if (earlier === undefined) return first({ requestId, request: key, digest }, run)
    if (earlier.digest !== digest) return refusal(reusedRequest(requestId))
    const done = await earlier.success
    if (done !== null) return { kind: 'success', structured: { ...done.structured, replayed: true } }
    forget(key, earlier)
    return once(call, run)
  }

  return { once }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(stableText(value)).digest('base64')
}

/** JSON with members in a fixed order, so that equal arguments give equal texts. */
function stableText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
