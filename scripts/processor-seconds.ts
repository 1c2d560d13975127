import { readFileSync } from 'node:fs'

/** Clock ticks per second of Linux, the value of `getconf CLK_TCK` on every present machine. */
const TICKS_PER_SECOND = 100

/** Returns the processor time, in seconds, of this process and of its ended children. Without /proc, the children are missing. */
export function processorSeconds(): number {
  try {
    return fromStat(readFileSync('/proc/self/stat', 'utf8'))
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}

/** Returns seconds from the text of `/proc/self/stat`: user and system time of the process and of its ended children. */
export function fromStat(stat: string): number {
  // The second field is the program name in brackets, which may contain spaces; the third field follows the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return ticks / TICKS_PER_SECOND
}

let toldSeconds = 0

/** Returns the processor time since the last call in this process; at the first call, since the process started. */
export function processorSecondsSinceLast(): number {
  const now = processorSeconds()
  const since = now - toldSeconds
  toldSeconds = now
  return since
}
