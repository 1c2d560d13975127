import type { Load } from './generator.ts'

/** The servers that are compared. The peer runs in two forms: with its default settings, and storing a document on each change. */
export const TARGETS = ['relay', 'hocuspocus', 'hocuspocus storing each change', 'bare'] as const
export type Target = (typeof TARGETS)[number]

export interface Scenario extends Pick<Load, 'clientsPerDoc' | 'rate' | 'window'> {
  readonly docs: number
  readonly targets: readonly Target[]
  /** `default`: the limits of a workspace are the relay's defaults. */
  readonly limits: 'default' | 'raised'
}

/** Scenarios of a fixed size. `capacity` (capacity.ts) has none: it looks for the largest. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  hot: { docs: 8, clientsPerDoc: 25, rate: 8, window: 0, targets: TARGETS, limits: 'raised' },
  many: { docs: 400, clientsPerDoc: 5, rate: 1, window: 0, targets: TARGETS, limits: 'raised' },
  light: { docs: 100, clientsPerDoc: 5, rate: 1, window: 0, targets: TARGETS, limits: 'raised' },
  saturation: {
    docs: 8,
    clientsPerDoc: 25,
    rate: 'saturate',
    window: 32,
    targets: ['relay', 'hocuspocus', 'bare'],
    limits: 'raised',
  },
  // One document per workspace at exactly the default write rate of 40/s.
  'default limits': { docs: 8, clientsPerDoc: 25, rate: 1.6, window: 0, targets: ['relay'], limits: 'default' },
  lone: { docs: 1, clientsPerDoc: 2, rate: 2, window: 0, targets: TARGETS, limits: 'raised' },
}

/**
 * Returns the scenario at `factor` times its rate. Returns `null` for saturation, which has no rate, and above the default write rate, where the
 * relay refuses edits.
 */
export function atRate(scenario: Scenario, factor: number): Scenario | null {
  if (factor === 1) return scenario
  if (scenario.rate === 'saturate' || (scenario.limits === 'default' && factor > 1)) return null
  return { ...scenario, rate: scenario.rate * factor }
}
