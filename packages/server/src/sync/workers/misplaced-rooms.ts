/**
 * The least time between two requests to move a room. It limits how many loads the moves cause, because the new home of a room loads its
 * document.
 */
const ASK_EVERY_MS = 500

/** The rooms that are in the wrong home. The listeners are asked to move them, one room after the other. [C8] */
export class MisplacedRooms {
  /** The misplaced rooms. The room whose move was requested most recently is the last. */
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

  /** Requests the move of one room. For a room that cannot move yet, the move is requested again after the other rooms. */
  askOne(nowMs: number): void {
    const [room] = this.#rooms
    if (room === undefined || nowMs - this.#lastMs < ASK_EVERY_MS) return
    this.#lastMs = nowMs
    this.#rooms.delete(room)
    this.#rooms.add(room)
    for (const listener of this.#listeners) listener(room)
  }
}
