import type { ServerResponse } from 'node:http'
import { RelayError } from '../kernel/errors.ts'
import { createFairTurns } from '../kernel/fair-turns.ts'
import type { Timers } from '../kernel/timers.ts'
import { lengthOf } from './answer-slices.ts'
import type { RouteReply } from './route.ts'

const MIB = 1_048_576
/** How many answers are made at one time, for all workspaces and for one. */
const SLOTS = 8
const PER_WORKSPACE = 2
const MAX_WAIT_MS = 30_000
const BUSY_RETRY_MS = 5_000

export interface AnswerLimits {
  /**
   * Bytes that the answers of one workspace may hold while its clients have not taken them. Above that, no further
   * answer is made.
   */
  readonly unsentBytes: number
}

export const ANSWER_LIMITS: AnswerLimits = { unsentBytes: 256 * MIB }

/**
 * Lets workspaces take turns at making large answers, a few at a time, and limits the unread bytes of each workspace.
 * So a flood of requests, or clients that read nothing, leave time and memory to other workspaces. [H10]
 */
export interface AnswerTurns {
  /**
   * Runs `make` in the turn of `workspaceId`, and counts its answer until `outgoing` closes. Throws what `make` throws,
   * and UNAVAILABLE when the workspace had no room within 30 s. Rejects with the reason of `left` when the client
   * leaves before.
   */
  run(workspaceId: string, outgoing: ServerResponse, left: AbortSignal, make: () => Promise<RouteReply>): Promise<RouteReply>
}

interface Holding {
  bytes: number
  /** Callbacks for the moment when a client has taken an answer. */
  readonly waiting: Set<() => void>
}

export function createAnswerTurns(timers: Timers, { unsentBytes }: AnswerLimits): AnswerTurns {
  const turns = createFairTurns({ slots: SLOTS, perHolder: PER_WORKSPACE })
  const holdings = new Map<string, Holding>()

  const hold = (workspaceId: string, bytes: number, outgoing: ServerResponse): void => {
    if (bytes === 0 || outgoing.closed) return
    const holding = holdings.get(workspaceId) ?? { bytes: 0, waiting: new Set() }
    holdings.set(workspaceId, holding)
    holding.bytes += bytes
    outgoing.once('close', () => {
      holding.bytes -= bytes
      if (holding.bytes === 0) holdings.delete(workspaceId)
      for (const wake of [...holding.waiting]) wake()
    })
  }

  return {
    async run(workspaceId, outgoing, left, make) {
      const late = new AbortController()
      const cancel = timers.after(MAX_WAIT_MS, () => late.abort(tooMuchUnsent(unsentBytes)))
      const ended = AbortSignal.any([left, late.signal])
      const makeOrWait = async (): Promise<RouteReply | Holding> => {
        const holding = holdings.get(workspaceId)
        if (holding !== undefined && holding.bytes >= unsentBytes) return holding
        const reply = await make()
        hold(workspaceId, bytesOf(reply), outgoing)
        return reply
      }
      try {
        for (;;) {
          const outcome = await turns.run(workspaceId, makeOrWait, ended)
          if ('kind' in outcome) return outcome
          await answerTaken(outcome, ended)
        }
      } finally {
        cancel()
      }
    },
  }
}

/** Resolves when a client of the workspace has taken an answer; rejects with the reason of `ended`. */
function answerTaken({ waiting }: Holding, ended: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = (): void => {
      waiting.delete(wake)
      if (ended.aborted) reject(ended.reason)
      else resolve()
    }
    waiting.add(wake)
    if (ended.aborted) wake()
    else ended.addEventListener('abort', wake, { once: true })
  })
}

function bytesOf(reply: RouteReply): number {
  if (reply.kind === 'json-bytes') return lengthOf(reply.parts)
  return reply.kind === 'bytes' ? reply.bytes.byteLength : 0
}

function tooMuchUnsent(unsentBytes: number): RelayError {
  const message = `The answers that clients of the workspace have not taken exceed ${unsentBytes} bytes.`
  return new RelayError('UNAVAILABLE', message, { retryAfterMs: BUSY_RETRY_MS })
}
