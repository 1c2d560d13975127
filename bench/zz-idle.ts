import { readFileSync, readdirSync } from 'node:fs'
import { startRelayServer } from './relay-server.ts'
const server = await startRelayServer({ docs: [], limits: 'default' })
const threads = () => Object.fromEntries(readdirSync(`/proc/${server.pid}/task`).map((t) => { const s = readFileSync(`/proc/${server.pid}/task/${t}/stat`, 'utf8'); const f = s.split(') ')[1].split(' '); const st = readFileSync(`/proc/${server.pid}/task/${t}/status`, 'utf8'); return [t + ' ' + s.slice(s.indexOf('(') + 1, s.lastIndexOf(')')), [(Number(f[11]) + Number(f[12])) * 10, Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(st)?.[1])]] }))
await new Promise((r) => setTimeout(r, Number(process.argv[2]) * 1000))
const a = threads(); const secs = Number(process.argv[3])
await new Promise((r) => setTimeout(r, secs * 1000))
const b = threads()
let cpu = 0
for (const [k, [c, v]] of Object.entries(b)) { const [c0, v0] = a[k] ?? [0, 0]; cpu += c - c0; if (v - v0 > secs / 20) console.log(k, (c - c0) / secs, 'ms/s', ((v - v0) / secs).toFixed(1), 'wakeups/s') }
console.log('total', cpu / secs / 10, '% of a core')
await server.stop()
