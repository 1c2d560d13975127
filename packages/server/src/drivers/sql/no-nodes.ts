import type { NodeRegistry } from '../../nodes/registry.port.ts'

const refuse = (): Promise<never> => Promise.reject(new Error('several nodes need a postgres: store'))

/** The registry of a store that one process uses alone: every call rejects. */
export const NO_NODES: NodeRegistry = { register: refuse, pulse: refuse, drain: refuse, leave: refuse }
