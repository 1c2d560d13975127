import { readFileSync } from 'node:fs'

/**
 * File descriptors that the relay needs beside one for each connection of the main listener: the loopback listeners,
 * connections that are refused, files of the store and of blobs, connections to the issuer and to other services.
 */
const BESIDE_CONNECTIONS = 4_096

/**
 * Returns how many file descriptors this process may open; `null` where the system does not say. Node raises the soft limit to the hard limit
 * at its start.
 */
export function descriptorLimit(): number | null {
  try {
    return descriptorsIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return null
  }
}

/** Finds the soft limit in the text of `/proc/self/limits`; `null` when it is missing or unlimited. */
export function descriptorsIn(limits: string): number | null {
  const found = /^Max open files\s+(\d+)/m.exec(limits)
  return found === null ? null : Number(found[1])
}

/** Returns a warning for the operator when there are too few descriptors for the connections, else `null`. [H11] */
export function tooFewDescriptors(maxConnections: number, limit: number | null): string | null {
  const needed = maxConnections + BESIDE_CONNECTIONS
  if (limit === null || limit >= needed) return null
  return (
    `[server].max_connections = ${maxConnections} needs ${needed} file descriptors, and this process may open ${limit}. ` +
    'When they run out, connections are closed without an answer and files cannot be opened. ' +
    'Raise the limit (LimitNOFILE of the unit, ulimit -n) or lower the key.'
  )
}
