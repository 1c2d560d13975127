import { readdirSync, readFileSync } from 'node:fs'

/** The kernel tells times of processes in hundredths of a second. */
const TICKS_PER_SEC = 100

/** What a line of `/proc/<pid>/stat` says; times in seconds, user and system together, of all threads. */
export interface ProcessTimes {
  readonly parent: number
  readonly ownSec: number
  /** Of children that ended and that the process has waited for. */
  readonly endedChildrenSec: number
}

/** The second field is the name of the program in parentheses, which may hold spaces and parentheses itself. */
export function readStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(') ') + 2).split(' ')
  const seconds = (user: number): number => (Number(fields[user]) + Number(fields[user + 1])) / TICKS_PER_SEC
  return { parent: Number(fields[1]), ownSec: seconds(11), endedChildrenSec: seconds(13) }
}

/** Processor time of one process in seconds. */
export function cpuSec(pid: number): number {
  return statOf(pid).ownSec
}

/** Processor time of a process and of its children in seconds, with that of children that have ended, so that it never falls. */
export function familyCpuSec(pid: number): number {
  const { ownSec, endedChildrenSec } = statOf(pid)
  let sum = ownSec + endedChildrenSec
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const child = statIfThere(Number(name))
    if (child?.parent === pid) sum += child.ownSec + child.endedChildrenSec
  }
  return sum
}

function statOf(pid: number): ProcessTimes {
  return readStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/** `null` for a process that has ended since it was listed. */
function statIfThere(pid: number): ProcessTimes | null {
  try {
    return statOf(pid)
  } catch {
    return null
  }
}
