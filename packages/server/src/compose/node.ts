import { hostname, networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { isOneOfSeveral } from '../config/several-nodes.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import { NodeLife } from '../nodes/node-life.ts'
import { observeNode } from '../nodes/observe-node.ts'
import { ownLinkUrl } from '../nodes/own-address.ts'
import type { NodeDescription } from '../nodes/registry.port.ts'
import type { Base } from './base.ts'
import type { Live } from './live.ts'

/**
 * Registers this relay with the other nodes of its store. Returns `null` when it uses the store alone. [LIFE-26, LIFE-27]
 *
 * @param onLost called when another process has taken the place of this one
 * @throws Error with a sentence for the operator
 */
export async function openNode(
  base: Base,
  storage: Storage,
  { gateway: { sessions } }: Pick<Live, 'gateway'>,
  onLost: (error: Error) => void,
  opened: AsyncDisposableStack,
): Promise<NodeLife | null> {
  const { config, clock, log, metrics, release } = base
  if (!isOneOfSeveral(config)) return null
  const closeSockets = () => {
    for (const connection of sessions.all()) sessions.close(connection, 1012, 'unavailable')
  }
  const node: NodeLife = new NodeLife({
    registry: storage.nodes,
    node: descriptionOf(config, release.version),
    // Until nodes have links, each counts as linked.
    links: { peers: () => node.peers.map(({ inc }) => inc), reachesItself: () => null },
    clock,
    timers: systemTimers,
    log,
    callbacks: {
      onServe: () => undefined,
      onRefuse: () => undefined,
      onCutOff: closeSockets,
      onSuspend: closeSockets,
      onPeers: () => undefined,
      onRobbed: () => undefined,
      onLost,
    },
  })
  opened.use(node)
  await node.start()
  observeNode(metrics, node)
  return node
}

function descriptionOf({ cluster, storage }: Config, program: string): NodeDescription {
  const linkUrl = cluster.linkUrl ?? ownLinkUrl(networkInterfaces(), cluster.linkPort)
  if (linkUrl === null)
    throw new Error('this machine has no private address: set [cluster].link_url to where the other nodes reach it')
  return { nodeId: cluster.nodeId ?? `${hostname()}:${resolve(storage.dataDir)}`, linkUrl, program }
}
