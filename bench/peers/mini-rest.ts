// A lower bound for REST: documents over bare node HTTP and one SQLite table, with a signature checked once per token and one durable
// commit per PUT. No rights, no versions to compare, no limits, no live documents, no log. argv: port, database file, address of the keys.
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

interface Row {
  readonly head: string
  readonly body: Uint8Array
}
interface Caller {
  readonly workspace: string
  readonly sub: string
  readonly role: string
}

const [port, file = '', keysUrl = ''] = process.argv.slice(2)
const { keys } = (await (await fetch(keysUrl)).json()) as { readonly keys: readonly (JsonWebKey & { readonly kid: string })[] }
const keyOf = new Map<string, KeyObject>(keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]))
const verified = new Map<string, Caller>()

const db = new DatabaseSync(file)
db.exec(`pragma journal_mode = wal; pragma synchronous = full;
  create table if not exists documents (workspace text, id text, version integer, updated integer, head text, body blob,
    primary key (workspace, id)) without rowid`)
const readRow = db.prepare('select head, body from documents where workspace = ? and id = ?')
const readVersion = db.prepare('select version from documents where workspace = ? and id = ?')
const readHeads = db.prepare('select head from documents where workspace = ? order by updated desc, id')
const write = db.prepare('insert or replace into documents values (?, ?, ?, ?, ?, ?)')

function callerOf({ headers: { authorization = '' } }: IncomingMessage): Caller {
  const token = authorization.slice('Bearer '.length)
  const hash = createHash('sha256').update(token).digest('base64')
  const known = verified.get(hash)
  if (known !== undefined) return known
  const [header = '', claims = '', signature = ''] = token.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, string>
  const key = keyOf.get(read(header)['kid'] ?? '')
  if (!key || !verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('the token is not signed by the issuer')
  const { sub = '', wsp } = read(claims) as { readonly sub?: string; readonly wsp?: unknown }
  const [membership] = wsp as readonly { readonly id: string; readonly role: string }[]
  const caller = { workspace: membership?.id ?? '', sub, role: membership?.role ?? '' }
  verified.set(hash, caller)
  return caller
}

function answer(outgoing: ServerResponse, version: number, ...parts: readonly (string | Uint8Array)[]): void {
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length, ETag: `"${version}"` })
  for (const part of parts.slice(0, -1)) outgoing.write(part)
  outgoing.end(parts.at(-1))
}

function headOf(body: Record<string, unknown>, size: number, version: number, caller: Caller, id: string): object {
  const nowMs = Date.now()
  const pages = [body['pages'], body['richTextPages']].map((list) => (list as readonly unknown[]).length)
  return {
    ...{
      id,
      title: body['name'],
      name: body['name'],
      updated_at: new Date(nowMs).toISOString(),
      modifiedAt: nowMs,
      createdAt: nowMs,
    },
    ...{ owner_id: caller.sub, ownerId: caller.sub, ownerName: caller.sub },
    ...{ workspace_id: caller.workspace, workspaceId: caller.workspace, is_relay_document: true, isRelayDocument: true },
    ...{ collectionId: null, sizeBytes: size, serverVersion: version, lineage: `lin-${id}` },
    ...{ pageCount: (pages[0] ?? 0) + (pages[1] ?? 0), canvasPageCount: pages[0], prosePageCount: pages[1] },
    ...{ access: caller.role, sharedWith: [] },
  }
}

createServer((incoming, outgoing) => {
  const caller = callerOf(incoming)
  const id = incoming.url?.split(/[/?]/)[3] ?? ''
  if (incoming.method === 'GET' && id === '') {
    const heads = readHeads.all(caller.workspace).map((row) => JSON.parse((row as unknown as Row).head) as unknown)
    return answer(outgoing, 0, JSON.stringify(heads))
  }
  if (incoming.method === 'GET') {
    const { head, body } = readRow.get(caller.workspace, id) as unknown as Row
    const { serverVersion, ownerId, ownerName, collectionId, sharedWith } = JSON.parse(head) as Record<string, unknown>
    const own = { version: serverVersion, serverVersion, ownerId, ownerName, isRelayDocument: true, collectionId, sharedWith }
    return answer(outgoing, serverVersion as number, body.subarray(0, -1), `,${JSON.stringify(own).slice(1)}`)
  }
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
  incoming.on('end', () => {
    const bytes = Buffer.concat(chunks)
    const body = JSON.parse(bytes.toString()) as Record<string, unknown>
    const version = Number(readVersion.get(caller.workspace, id)?.['version'] ?? 0) + 1
    const head = headOf(body, bytes.byteLength, version, caller, id)
    // Durable when it returns: one transaction with a flush.
    write.run(caller.workspace, id, version, Date.now(), JSON.stringify(head), bytes)
    answer(outgoing, version, JSON.stringify({ ...head, success: true, newVersion: version }))
  })
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))
