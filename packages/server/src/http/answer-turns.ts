import type { ServerResponse } from 'node:http'
import { RelayError } from '../kernel/errors.ts'
import { createFairTurns } from '../kernel/fair-turns.ts'
import type { Timers } from '../kernel/timers.ts'
import { lengthOf } from './answer-slices.ts'
import { clientLeft } from './left-signal.ts'
import type { RouteReply } from './route.ts'

const MIB = 1_048_576
/** Number of answers made at a time: for all workspaces, and for one workspace. */
const SLOTS = 8
const PER_WORKSPACE = 2
const MAX_WAIT_MS = 30_000
const BUSY_RETRY_MS = 5_000

export interface AnswerLimits {
  /**
   * Bytes of answers that the clients of one workspace may leave unread. Above the limit no further answer is made for the workspace.
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
   * and UNAVAILABLE when the workspace had no room within 30 s, or when the client leaves before; then it never runs.
   */
  run(workspaceId: string, outgoing: ServerResponse, make: () => Promise<RouteReply>): Promise<RouteReply>
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
    run: (workspaceId, outgoing, make) =>
      new Promise((resolve, reject) => {
        let leaveTurns = (): void => undefined
        let leaveHolding = (): void => undefined
        const refuse = (error: RelayError): void => {
          leaveTurns()
          leaveHolding()
          ended()
          reject(error)
        }
        const closed = (): void => refuse(clientLeft())
        let isWaiting = true
        let cancel = (): void => undefined
        const ended = (): void => {
          isWaiting = false
          cancel()
          outgoing.off('close', closed)
        }
        const wait = (): void => {
          leaveTurns = turns.ask(workspaceId, (done) => {
            const holding = holdings.get(workspaceId)
            if (holding !== undefined && holding.bytes >= unsentBytes) {
              const wake = (): void => {
                holding.waiting.delete(wake)
                wait()
              }
              holding.waiting.add(wake)
              leaveHolding = () => holding.waiting.delete(wake)
              return done()
            }
            ended()
            void make()
              .then((reply) => {
                hold(workspaceId, bytesOf(reply), outgoing)
                resolve(reply)
              })
              .catch(reject)
              .finally(done)
          })
        }
        if (outgoing.destroyed) return refuse(clientLeft())
        wait()
        if (!isWaiting) return
        outgoing.once('close', closed)
        cancel = timers.after(MAX_WAIT_MS, () => refuse(tooMuchUnsent(unsentBytes)))
      }),
  }
}

function bytesOf(reply: RouteReply): number {
  if (reply.kind === 'json-bytes') return lengthOf(reply.parts)
  return reply.kind === 'bytes' ? reply.bytes.byteLength : 0
}

function tooMuchUnsent(unsentBytes: number): RelayError {
  const message = `The answers that clients of the workspace have not taken exceed ${unsentBytes} bytes.`
  return new RelayError('UNAVAILABLE', message, { retryAfterMs: BUSY_RETRY_MS })
}
