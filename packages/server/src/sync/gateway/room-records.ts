import type { ChangeRecords } from '../../documents/change-records.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { Room, RoomTable } from './room-table.ts'

/**
 * Makes a room report which person makes each change while a record of its document is held, and writes the changes into the record.
 * [AG-20]
 */
export class RoomRecords {
  readonly #given: {
    readonly records: ChangeRecords | undefined
    readonly table: RoomTable
    readonly clock: Clock
    readonly post: (room: Room, message: ToWorker) => void
  }

  constructor(given: {
    readonly records: ChangeRecords | undefined
    readonly table: RoomTable
    readonly clock: Clock
    readonly post: (room: Room, message: ToWorker) => void
  }) {
    this.#given = given
    const { records, table } = given
    records?.onHeld({
      held: (ref, isHeld) => {
        const room = table.of(ref)
        if (room !== undefined) this.#tell(room, isHeld)
      },
    })
  }

  /**
   * Called when a room is open. An opened room does not report changes until it is told to, also when it was opened again after its
   * worker had ended.
   */
  opened(room: Room): void {
    if (this.#given.records?.isHeld(room.ref) === true) this.#tell(room, true)
  }

  changed({ ref }: Room, { changes }: Extract<FromWorker, { kind: 'changed' }>): void {
    const { records, clock } = this.#given
    const nowMs = clock.nowMs()
    for (const { who, ...change } of changes) records?.note(ref, { who, caller: null }, [change], nowMs)
  }

  /** Called when the `isWatching` of an edge in the room has changed. */
  watch(room: Room): void {
    this.#tell(room, this.#given.records?.isHeld(room.ref) === true)
  }

  #tell(room: Room, isHeld: boolean): void {
    const isOn = isHeld || room.edges.some((edge) => edge.isWatching)
    this.#given.post(room, { kind: 'watch', room: room.number, isOn })
  }
}
