import type { Metrics } from '../kernel/metrics.ts'
import type { NodeLife } from './node-life.ts'
import { SILENT_MS } from './registry.port.ts'

export interface NodeCheck {
  readonly ok: boolean
  readonly detail?: string
}

/** Returns the result of the check `cluster` of /readyz. [OPS-2] */
export function checkNode({ phase, reachesItself }: Pick<NodeLife, 'phase' | 'reachesItself'>): NodeCheck {
  switch (phase) {
    case 'joining':
      return { ok: false, detail: 'the first heartbeat is not answered yet' }
    case 'refusing':
      return { ok: false, detail: 'the heartbeat is not answered' }
    case 'cut-off':
      return { ok: false, detail: 'too few of the other nodes are linked' }
    case 'suspended':
      return { ok: false, detail: 'the node has given up its documents and registers again' }
    case 'ended':
      return { ok: false, detail: 'the node has left the others' }
    case 'serving':
      return reachesItself === false ? { ok: false, detail: 'the node cannot reach its own link_url' } : { ok: true }
  }
}

/** Sets the metrics of this node at each scrape. [OPS-4] */
export function observeNode(metrics: Metrics, node: NodeLife): void {
  metrics.beforeScrape(() => {
    const silent = node.peers.filter(({ silentMs }) => silentMs > SILENT_MS)
    const states = node.peers.filter((peer) => !silent.includes(peer)).map(({ state }) => state)
    if (node.inc !== null) states.push(node.state)
    for (const state of ['up', 'draining'] as const)
      metrics.set('relay_cluster_nodes', states.filter((one) => one === state).length, { state })
    metrics.set('relay_cluster_nodes', silent.length, { state: 'silent' })
    metrics.set('relay_lease_age_seconds', node.heartbeatAgeMs / 1000)
  })
}
