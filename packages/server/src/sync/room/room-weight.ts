import { fullState, isHeavy, type RoomContent } from './room-content.ts'
import type { RoomHost } from './room-host.ts'

/** The parts of a room from which `RoomWeight` decides whether its document is too heavy. */
export interface Weighed {
  readonly id: number
  content(): RoomContent
  /** The log sequence of the last emitted update. */
  sequence(): number
}

/** A state near a bound is encoded again only after its document has grown by this much. */
const ENCODE_AGAIN_BYTES = 1024

/** Decides whether the document of a room still belongs in its home. Notifies the gateway once when it does not. [C8] */
export class RoomWeight {
  private readonly host: Pick<RoomHost, 'options' | 'emit'>
  private readonly room: Weighed
  private isOutgrown = false
  /** Bytes of the state when they were last counted, and of the updates since. */
  private stateBytes: number
  private grownBytes = 0

  constructor(host: Pick<RoomHost, 'options' | 'emit'>, room: Weighed, stateBytes: number) {
    this.host = host
    this.room = room
    this.stateBytes = stateBytes
  }

  grown(bytes: number): void {
    this.grownBytes += bytes
  }

  /** Notifies the gateway when the document has become too heavy. */
  check(): void {
    if (!this.isOutgrown && this.isHeavy()) this.outgrown()
  }

  /** Notifies the gateway, once per room, that the document no longer belongs in this home. */
  outgrown(): void {
    if (this.isOutgrown) return
    this.isOutgrown = true
    this.host.emit({ kind: 'heavy', room: this.room.id })
  }

  isHeavy(): boolean {
    const { bounds } = this.host.options
    return isHeavy(this.room.content(), bounds) || (bounds !== null && this.isLongerThan(bounds.stateBytes))
  }

  /**
   * Whether the encoded state is longer than `bytes`. The state is at most as long as the last counted length plus the updates since then, so
   * it is encoded again only when that sum exceeds `bytes`.
   */
  private isLongerThan(bytes: number): boolean {
    const mayBe = this.stateBytes + this.grownBytes > bytes
    if (mayBe && this.grownBytes >= ENCODE_AGAIN_BYTES) {
      this.stateBytes = fullState(this.room.content(), this.room.sequence()).length
      this.grownBytes = 0
    }
    return this.stateBytes > bytes
  }
}
