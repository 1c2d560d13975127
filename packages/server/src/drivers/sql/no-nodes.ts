import type { NodeRegistry } from '../../nodes/registry.port.ts'

const refuse = (): Promise<never> => Promise.reject(new Error('several nodes need a postgres: store'))

/** Of a store that one process has for itself. */
export const NO_NODES: NodeRegistry = { register: refuse, pulse: refuse, drain: refuse, leave: refuse }
