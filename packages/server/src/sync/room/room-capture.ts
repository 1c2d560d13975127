import type { Room } from './room.ts'

/** Stores a recovery point when the last participant leaves. [LIFE-19, LIFE-21] */
export interface LeaveCapture {
  left(): void
  /**
   * Captures the stored body of this version if somebody has left since the last capture. A failure is logged, and the next call tries
   * again. Never rejects.
   */
  run(version: number): Promise<void>
}

export function leaveCapture({ key, ref, host, epoch }: Room): LeaveCapture {
  let isDue = false
  let capturedVersion: number | null = null
  return {
    left() {
      isDue = true
    },
    async run(version) {
      if (!isDue) return
      // Somebody may leave while the point is stored. That makes the next capture due.
      isDue = false
      try {
        // A version that was captured already is not captured again.
        if (version !== capturedVersion) await host.recovery.capture(key, 'last-leave', host.clock.nowMs(), epoch ?? undefined)
        capturedVersion = version
      } catch (error) {
        isDue = true
        host.log.warn('room.capture_failed', 'No recovery point could be taken when the last participant left.', {
          workspace: ref.workspaceId,
          docId: ref.id,
          error: String(error),
        })
      }
    },
  }
}
