/**
 * Reads and writes the integers of the wire. A varUint has 7 bits per byte, low group first; the high bit says that
 * more follows; the value is at most 2^53-1.
 *
 * A reader never throws on untrusted bytes: after an error `failed` is true and every read returns zeros, so a caller
 * checks once at the end.
 */
export class Reader {
  readonly bytes: Uint8Array
  position: number
  failed = false

  constructor(bytes: Uint8Array, position = 0) {
    this.bytes = bytes
    this.position = position
  }

  get remaining(): number {
    return this.bytes.length - this.position
  }

  byte(): number {
    const value = this.bytes[this.position]
    if (value === undefined) return this.#fail()
    this.position++
    return value
  }

  varUint(): number {
    let value = 0
    let scale = 1
    for (let group = 0; group < 8; group++) {
      const byte = this.bytes[this.position]
      if (byte === undefined) return this.#fail()
      this.position++
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? value : this.#fail()
      scale *= 128
    }
    return this.#fail()
  }

  /** A view into the same buffer, not a copy. */
  varBytes(): Uint8Array {
    const length = this.varUint()
    if (length > this.remaining) this.#fail()
    if (this.failed) return new Uint8Array(0)
    const view = this.bytes.subarray(this.position, this.position + length)
    this.position += length
    return view
  }

  #fail(): 0 {
    this.failed = true
    this.position = this.bytes.length
    return 0
  }
}

export function varUintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++
  return length
}

/** Writes at `position` and returns the position after the written bytes. */
export function writeVarUint(target: Uint8Array, position: number, value: number): number {
  let rest = value
  let at = position
  while (rest >= 128) {
    target[at++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  target[at++] = rest
  return at
}
