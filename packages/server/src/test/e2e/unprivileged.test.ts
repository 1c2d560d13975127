import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { startTestIssuer } from '../../auth/testing/test-issuer.ts'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { saved } from '../relay-under-test.ts'

const NOBODY = 65_534
const MAIN = join(import.meta.dirname, '../../main.ts')
const REPOSITORY = join(import.meta.dirname, '../../../../..')

/** Runs a command as another user without capabilities, in a mount namespace where only one folder is writable. */
const SEALED = `
mount --make-rprivate / && mount --bind / / && mount --bind "$DATA" "$DATA" && mount -o remount,ro,bind / && cd / &&
exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`

function canSeal(): string | null {
  if (process.getuid?.() !== 0) return 'needs root'
  const folder = mkdtempSync(join(tmpdir(), 'relay-seal-'))
  const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', SEALED, 'sh', 'true'], {
    env: { PATH: process.env['PATH'], DATA: folder },
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  return status === 0 ? null : `a mount namespace cannot be made here: ${stderr.trim()}`
}

async function bound(child: ChildProcess, errors: string[]): Promise<string> {
  if (child.stdout === null || child.stderr === null) throw new Error('no output')
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const lines = createInterface({ input: child.stdout })
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => line.startsWith('main ') && resolve(line.slice(5)))
    child.once('exit', (code) => reject(new Error(`the relay ended with ${code}: ${errors.join('\n')}`)))
  })
}

it('[OPS-12] the relay serves documents and blobs as an unprivileged user with nothing writable but data_dir', async (context) => {
  const hindrance = canSeal()
  if (hindrance !== null) return context.skip(hindrance)
  const folder = mkdtempSync(join(tmpdir(), 'relay-sealed-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, NOBODY, NOBODY)
  const issuer = await startTestIssuer()
  const errors: string[] = []
  const child = spawn('unshare', ['--mount', 'sh', '-c', SEALED, 'sh', process.execPath, MAIN, 'serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      DATA: dataDir,
      RELAY_DATA_DIR: dataDir,
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_METRICS_EXPOSE: 'off',
      RELAY_MCP_ENABLED: 'false',
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
    },
  })
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  try {
    const baseUrl = await bound(child, errors)
    const token = () => issuer.token()
    const rest = new RelayClient({ baseUrl, token })
    await rest.putDocument('d', { name: 'd' })
    const client = new SyncClient({ url: `${baseUrl.replace('http', 'ws')}/ws`, docId: 'd', doc: new Y.Doc(), token })
    client.connect()
    await saved(client)
    client.doc.getMap('metadata').set('title', 'typed')
    await saved(client)
    const bytes = someBytes(300_000)
    const blob = `${baseUrl}/api/blobs/${hashOf(bytes)}`
    const headers = { authorization: `Bearer ${token()}`, 'content-type': 'image/png' }
    expect((await fetch(blob, { method: 'POST', headers, body: bytes })).status).toBe(204)
    expect(new Uint8Array(await (await fetch(blob, { headers })).arrayBuffer())).toEqual(bytes)
    expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200)
    client.destroy()
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(errors.filter((line) => line.includes('"level":"error"'))).toEqual([])
    const kept = ['blobs', 'compiled-code', 'relay.db', 'relay.db.lock', 'relay.db.mark']
    // The reserve and the search index are written some seconds after the start, so they may be missing.
    expect(
      readdirSync(dataDir)
        .filter((name) => name !== 'relay.db.reserve' && name !== 'relay.db-search')
        .sort(),
    ).toEqual(kept)
  } finally {
    child.kill('SIGKILL')
    await ended
    await issuer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

it('[OPS-12] the systemd unit is accepted by systemd', (context) => {
  if (!existsSync('/usr/bin/systemd-analyze')) return context.skip('needs systemd-analyze')
  const unit = join(REPOSITORY, 'deploy/docrelay.service')
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  // systemd-analyze also looks for the programs, which need not be installed here.
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.includes('is not executable'))
  expect([complaints, stderr === '' ? status : 0]).toEqual([[], 0])
})
