import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Every address that a name has now. Rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** As the system resolves names, its hosts file included; IPv4 first, since it is the one that works everywhere. */
export const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

/** The addresses to connect to for a host that may be an address itself. */
export async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  return isIP(host) === 0 ? resolve(host) : [host]
}
