/** Something that one writer sets again and again, one call after the other. */
export interface Register {
  /** What it is called when it is not what it should be. */
  readonly name: string
  /** Every value that was sent, `null` for none; the first is what was there before. */
  readonly sent: (string | null)[]
  /** How many of them the relay has confirmed. */
  answered: number
}

export function openRegister(name: string, before: string | null): Register {
  return { name, sent: [before], answered: 1 }
}

/** Sets it by a call, which counts only when it is answered. */
export async function setRegister<T>(register: Register, value: string | null, call: () => Promise<T>): Promise<T> {
  register.sent.push(value)
  const answer = await call()
  register.answered = register.sent.length
  return answer
}

/** A register as it was confirmed at one moment. */
export interface Confirmed<R extends Register = Register> {
  readonly register: R
  readonly answered: number
}

export function confirmedNow<R extends Register>(register: R): Confirmed<R> {
  return { register, answered: register.answered }
}

/** Whether `stored` is what was confirmed last, or what a later call would have left. */
export function holds({ register, answered }: Confirmed, stored: string | null): boolean {
  return register.sent.slice(answered - 1).includes(stored)
}
