import type { AccessPolicy } from '../access/access.ts'
import type { Config } from '../config/config.ts'

/** Returns the part of the configuration that decides rights on documents. [PERM-1, AG-89] */
export function accessPolicyOf({ permissions, mcp }: Pick<Config, 'permissions' | 'mcp'>): AccessPolicy {
  return { enforcePrivateDocs: permissions.enforcePrivateDocs, staticTokenShare: mcp.staticTokenShare }
}
