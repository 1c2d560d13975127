import type { Config } from './config.ts'

/** Whether this relay is one of several nodes on its store. [CFG-6] */
export function isOneOfSeveral({ storage, cluster }: Pick<Config, 'storage' | 'cluster'>): boolean {
  return isPostgres(storage.url) && !cluster.singleNode
}

function isPostgres(storageUrl: string): boolean {
  return storageUrl.startsWith('postgres:') || storageUrl.startsWith('postgresql:')
}
