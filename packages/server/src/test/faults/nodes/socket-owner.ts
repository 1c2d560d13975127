import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

const LOOPBACK = '0100007F'
const NO_INODE = '0'

/**
 * Returns which of these processes has opened the loopback connection that comes from `port`; `null` when none of them has, or where the
 * system has no /proc. So a proxy can tell the nodes apart that dial the same address.
 */
export function ownerOfSocket(port: number, pids: readonly number[]): number | null {
  try {
    const inode = inodeOf(port)
    return inode === null ? null : (pids.find((pid) => hasSocket(pid, inode)) ?? null)
  } catch {
    return null
  }
}

/** A line of /proc/net/tcp: number, local address, remote address, state, …, inode as the tenth. */
function inodeOf(port: number): string | null {
  const local = `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const cells = line.trim().split(/\s+/)
    if (cells[1] === local && cells[9] !== undefined && cells[9] !== NO_INODE) return cells[9]
  }
  return null
}

function hasSocket(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`) === `socket:[${inode}]`
    } catch {
      return false
    }
  })
}
