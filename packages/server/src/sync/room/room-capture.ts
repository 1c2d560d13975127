import type { Room } from './room.ts'

/** Keeps what the last participant leaves behind as a recovery point. [LIFE-19, LIFE-21] */
export interface LeaveCapture {
  left(): void
  /** Captures the stored body of this version if somebody has left since; a failure is logged and made up for by the next call. Never rejects. */
  run(version: number): Promise<void>
}

export function leaveCapture({ key, ref, host }: Room): LeaveCapture {
  let isDue = false
  let capturedVersion: number | null = null
  return {
    left() {
      isDue = true
    },
    async run(version) {
      if (!isDue) return
      try {
        // Coming and going without a change costs nothing.
        if (version !== capturedVersion) await host.recovery.capture(key, 'last-leave', host.clock.nowMs())
        capturedVersion = version
        isDue = false
      } catch (error) {
        host.log.warn('room.capture_failed', 'No recovery point could be taken when the last participant left.', {
          workspace: ref.workspaceId,
          docId: ref.id,
          error: String(error),
        })
      }
    },
  }
}
