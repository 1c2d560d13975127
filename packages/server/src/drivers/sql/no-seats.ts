import type { Seats } from '../../access/seats.port.ts'

const refuse = (): Promise<never> => Promise.reject(new Error('a relay that has its store for itself counts seats in memory'))

/** The seats of a store that one process uses alone: every call rejects. */
export const NO_SEATS: Seats = { take: refuse, change: refuse, release: refuse, connections: refuse, editors: refuse }
