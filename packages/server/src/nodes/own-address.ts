import { BlockList } from 'node:net'

/** The part of the result of `os.networkInterfaces()` that is used here. */
export type Interfaces = Readonly<
  Record<string, readonly { readonly address: string; readonly family: string; readonly internal: boolean }[] | undefined>
>

const PRIVATE = new BlockList()
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4')
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')

/**
 * The default of `[cluster] link_url`: the first private address of this machine, IPv4 before IPv6; null when there is none.
 * On a machine in two private networks this may be the wrong address, so operators set the key there. [CFG-10]
 */
export function ownLinkUrl(interfaces: Interfaces, port: number): string | null {
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address, family, internal }) => !internal && PRIVATE.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'))
  const address = own.find(({ family }) => family !== 'IPv6') ?? own[0]
  if (address === undefined) return null
  return address.family === 'IPv6' ? `ws://[${address.address}]:${port}` : `ws://${address.address}:${port}`
}
