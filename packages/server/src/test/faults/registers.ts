/** A value that one writer sets repeatedly, one call after another. */
export interface Register {
  /** The name of the register in reports. */
  readonly name: string
  /** Every value that was sent; `null` for no value. The first is the value before all calls. */
  readonly sent: (string | null)[]
  /** How many of `sent` the relay has confirmed. */
  answered: number
}

export function openRegister(name: string, before: string | null): Register {
  return { name, sent: [before], answered: 1 }
}

/** Sets a register by a call. The value counts as confirmed only when the call is answered. */
export async function setRegister<T>(register: Register, value: string | null, call: () => Promise<T>): Promise<T> {
  register.sent.push(value)
  const answer = await call()
  register.answered = register.sent.length
  return answer
}

/** A register with its confirmed state at one moment. */
export interface Confirmed<R extends Register = Register> {
  readonly register: R
  readonly answered: number
}

export function confirmedNow<R extends Register>(register: R): Confirmed<R> {
  return { register, answered: register.answered }
}

/** Whether `stored` is the last confirmed value or the value of a later call. */
export function holds({ register, answered }: Confirmed, stored: string | null): boolean {
  return register.sent.slice(answered - 1).includes(stored)
}
