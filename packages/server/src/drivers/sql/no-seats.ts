import type { Seats } from '../../access/seats.port.ts'

const refuse = (): Promise<never> => Promise.reject(new Error('a relay that has its store for itself counts seats in memory'))

/** Of a store that one process has for itself. */
export const NO_SEATS: Seats = { take: refuse, change: refuse, release: refuse, connections: refuse, editors: refuse }
