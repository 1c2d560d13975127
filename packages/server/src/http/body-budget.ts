import { RelayError } from '../kernel/errors.ts'

const MIB = 1_048_576
const LARGE_BYTES = 16 * MIB
const LARGE_PER_WORKSPACE = 4

/** Memory that request bodies in flight hold. Above the bound a request is refused 503, so that many large bodies cannot add up. [H3] */
export interface BodyBudget {
  /** Opens the account of one request; nothing is held until `hold`. */
  open(workspaceId: string): BodyAccount
}

export interface BodyAccount {
  /** Raises what this request holds to `bytes`. Throws UNAVAILABLE when the process or the workspace has no room. */
  hold(bytes: number): void
  /** Idempotent. */
  release(): void
}

/** `largestLimitBytes`: the largest body limit of any route. */
export function createBodyBudget(largestLimitBytes: number): BodyBudget {
  const totalBytes = Math.max(512 * MIB, 2 * largestLimitBytes)
  const largeByWorkspace = new Map<string, number>()
  let heldBytes = 0

  return {
    open(workspaceId) {
      let held = 0
      let large = false
      return {
        hold(bytes) {
          if (bytes <= held) return
          if (heldBytes + bytes - held > totalBytes) throw new RelayError('UNAVAILABLE', 'Too many request bodies are in flight.')
          if (bytes > LARGE_BYTES && !large) {
            const count = largeByWorkspace.get(workspaceId) ?? 0
            if (count >= LARGE_PER_WORKSPACE) {
              throw new RelayError(
                'UNAVAILABLE',
                `The workspace already sends ${LARGE_PER_WORKSPACE} bodies above ${LARGE_BYTES} bytes.`,
              )
            }
            largeByWorkspace.set(workspaceId, count + 1)
            large = true
          }
          heldBytes += bytes - held
          held = bytes
        },
        release() {
          heldBytes -= held
          held = 0
          if (!large) return
          large = false
          const count = (largeByWorkspace.get(workspaceId) ?? 1) - 1
          if (count === 0) largeByWorkspace.delete(workspaceId)
          else largeByWorkspace.set(workspaceId, count)
        },
      }
    },
  }
}
