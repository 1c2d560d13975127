import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Returns every current address of a name. Rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** Resolves as the system does, including its hosts file. IPv4 comes first, because it works everywhere. */
export const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

/** Returns the addresses of a host, which may be an address itself. */
export async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  return isIP(host) === 0 ? resolve(host) : [host]
}
