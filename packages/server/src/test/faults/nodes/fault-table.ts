import { BUS_FAULTS } from './bus-faults.ts'
import { DATABASE_FAULTS } from './database-faults.ts'
import { FAILOVER_FAULTS } from './failover-faults.ts'
import { LIMIT_FAULTS } from './limit-faults.ts'
import { LINK_FAULTS } from './link-faults.ts'
import { NODE_FAULTS } from './node-faults.ts'
import type { NodesFault } from './nodes-fault.ts'

export const NODES_FAULTS: Readonly<Record<string, NodesFault>> = {
  ...NODE_FAULTS,
  ...DATABASE_FAULTS,
  ...FAILOVER_FAULTS,
  ...BUS_FAULTS,
  ...LINK_FAULTS,
  ...LIMIT_FAULTS,
}

/** Returns a fault by name. @throws Error when there is no such fault */
export function faultNamed(name: string): NodesFault {
  const fault = NODES_FAULTS[name]
  if (fault === undefined) throw new Error(`no fault ${name}, only ${Object.keys(NODES_FAULTS).join(', ')}`)
  return fault
}

const SKIPPED = 16

/** Draws the names of `count` faults: each comes as often as its share before any comes again. */
export function drawFaults(count: number, random: () => number): readonly string[] {
  const all = Object.entries(NODES_FAULTS).flatMap(([name, { share }]) => Array.from({ length: share }, () => name))
  // For seeds close together the first numbers of the generator are similar, so they are skipped.
  for (let i = 0; i < SKIPPED; i++) random()
  const drawn: string[] = []
  while (drawn.length < count) drawn.push(...shuffled(all, random).slice(0, count - drawn.length))
  return drawn
}

function shuffled(names: readonly string[], random: () => number): readonly string[] {
  return names
    .map((name) => ({ name, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name)
}
