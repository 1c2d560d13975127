/** Interval of requests to move rooms: each costs the new home a load of the document. */
const ASK_EVERY_MS = 500

/** Rooms in a home where they do not belong. Listeners are asked to move them, one room after the other. [C8] */
export class MisplacedRooms {
  /** The room that was asked last comes last. */
  readonly #rooms = new Set<number>()
  readonly #listeners: ((room: number) => void)[] = []
  #lastMs = Number.NEGATIVE_INFINITY

  add(room: number): void {
    this.#rooms.add(room)
  }

  delete(room: number): void {
    this.#rooms.delete(room)
  }

  onMove(listener: (room: number) => void): void {
    this.#listeners.push(listener)
  }

  /** Asks for the move of one room. A room that cannot move yet is asked again after the others. */
  askOne(nowMs: number): void {
    const [room] = this.#rooms
    if (room === undefined || nowMs - this.#lastMs < ASK_EVERY_MS) return
    this.#lastMs = nowMs
    this.#rooms.delete(room)
    this.#rooms.add(room)
    for (const listener of this.#listeners) listener(room)
  }
}
