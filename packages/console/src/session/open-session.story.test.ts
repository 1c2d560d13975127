import 'fake-indexeddb/auto'
import type { LiveDocument } from '@docrelay/client'
import { type RelayUnderTest, startRelayUnderTest, until } from '@docrelay/server/test/relay-under-test'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Session } from '../app/views.ts'
import { openSession } from './open-session.ts'
import type { SignIn } from './sign-in.ts'

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_TENANCY_MODE: 'shared' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** A session of Dora in one workspace; her token names `workspaces`. */
function sessionOf(workspace: string, workspaces: readonly string[]): Session {
  const wsp = workspaces.map((id) => ({ id, role: 'member' }))
  const accessToken = async () => relay.token({ sub: 'dora', wsp })
  const claims = { token: { sub: 'dora', name: null, workspaces }, idName: null }
  const config = { issuer: '', clientId: '', scope: '', authorizeParams: {}, mcpUrl: null, version: '' }
  const page = { go() {}, announce() {}, now: Date.now }
  const session = openSession({ claims, accessToken } as unknown as SignIn, {
    config,
    relayUrl: relay.baseUrl,
    workspace,
    ...page,
  })
  if (session === null) throw new Error('nobody is signed in')
  return session
}
const fields = (document: LiveDocument) => [...document.ydoc.getMap('fields').keys()].sort()

it('[CON-22] words typed without a connection are sent after the person has joined a second workspace', async () => {
  const before = sessionOf('first', ['first'])
  await before.relay.documents.put('minutes', { name: 'Minutes' })
  const typed = before.relay.open('minutes')
  await until('the copy', () => typed.state.localCopy === 'on')
  await relay.kill()
  await until('the loss', () => typed.state.link === 'waiting')
  typed.ydoc.getMap('fields').set('offline', { name: 'offline', value: '' })
  await before.relay.close()
  await relay.restart()
  const { relay: client } = sessionOf('first', ['second', 'first'])
  const again = client.open('minutes')
  await again.ready
  await again.flush({ timeoutMs: 10_000 })
  expect(fields(again)).toEqual(['offline'])
  await client.signOut()
})

it('[CON-21] signing out removes copies that were made while the person had one workspace', async () => {
  const before = sessionOf('first', ['first'])
  await before.relay.documents.put('plan', { name: 'Plan' })
  const kept = before.relay.open('plan')
  await until('the copy', () => kept.state.localCopy === 'on')
  await before.relay.close()
  await sessionOf('first', ['first', 'second']).relay.signOut()
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open('docrelay')
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
  const left = await new Promise((resolve) => {
    const counting = database.transaction('copies').objectStore('copies').count()
    counting.onsuccess = () => resolve(counting.result)
  })
  expect(left).toBe(0)
})
