import type { Config } from './config.ts'

/** Whether this relay is one of several on its store. [CFG-6] */
export function isOneOfSeveral({ storage, cluster }: Pick<Config, 'storage' | 'cluster'>): boolean {
  return isPostgres(storage.url) && !cluster.singleNode
}

function isPostgres(storageUrl: string): boolean {
  return storageUrl.startsWith('postgres:') || storageUrl.startsWith('postgresql:')
}

/** Whether this release lets several relays use one store. Until then every configuration of several is refused. [CFG-6] */
export function areSeveralNodesBuilt(): boolean {
  return false
}
