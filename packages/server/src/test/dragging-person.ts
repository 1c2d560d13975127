import type { WireClient } from './wire-client.ts'

type Members = Readonly<Record<string, unknown>>

/** Returns the shapes of canvas page `c` of the sample document, as a person sees them, by id. */
export const seenBy = ({ doc }: WireClient): Members => doc.getMap('shapes:c').toJSON()

/**
 * Drags one shape of canvas page `c` until it is stopped. Each step is a write of its own, made when the one before is durable. `shapeAt` returns
 * the shape after so many steps. `stop` resolves with the last shape.
 */
export function drag(
  person: WireClient,
  id: string,
  shapeAt: (steps: number) => Members,
): { readonly steps: () => number; stop(): Promise<Members> } {
  let [steps, isStopped] = [0, false]
  const run = async (): Promise<Members> => {
    while (!isStopped) {
      steps++
      await person.write(person.edit((doc) => void doc.getMap('shapes:c').set(id, shapeAt(steps))))
    }
    return shapeAt(steps)
  }
  const done = run()
  return {
    steps: () => steps,
    stop() {
      isStopped = true
      return done
    },
  }
}
