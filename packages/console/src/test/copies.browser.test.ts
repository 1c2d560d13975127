import { cpSync, renameSync, rmSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { type ConsoleUnderTest, openConsole, openConsoleAlone } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

/** Ann's page with words of a time without a connection, in which the document was deleted and made anew. */
async function divergedPage({ frames, rest, openAs, allowProblems }: ConsoleUnderTest): Promise<Page> {
  allowProblems(/WebSocket connection to/, /Failed to load resource/, /ERR_/)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')
  frames.cut()
  await ann.locator('[data-link=waiting]').waitFor()
  await ann.context().setOffline(true)
  await ann.keyboard.type(' and me')
  await badge(ann, 'local').waitFor()
  const owner = await rest('ann')
  await owner.deleteDocument('minutes')
  await owner.putDocument('minutes', minutes('<p>Present: Ben</p>'), { overrideTombstone: true })
  frames.mend()
  await ann.context().setOffline(false)
  await ann.getByText('the document was deleted and made anew').waitFor()
  expect(await editorOf(ann).textContent()).toBe('Present: Ann and me')
  return ann
}

it('[WS-62] words of a former life of a document become a document of their own, and the new life has none of them', async (context) => {
  const opened = await openConsole(context)
  const ann = await divergedPage(opened)
  await ann.getByRole('button', { name: 'Keep as a new document' }).click()
  await ann.waitForURL(({ hash }) => hash.startsWith('#doc/') && !hash.startsWith('#doc/minutes'))
  await badge(ann, 'saved').waitFor()
  const owner = await opened.rest('ann')
  const copy = (await owner.listDocuments()).find(({ id }) => id !== 'minutes')
  expect(copy?.name).toBe('Weekly minutes (my copy)')
  expect(JSON.stringify(await owner.getDocument(copy?.id ?? ''))).toContain('Present: Ann and me')
  expect(JSON.stringify(await owner.getDocument('minutes'))).not.toContain('and me')
})

it('[WS-62] words of a former life of a document can be dropped; the page shows the new life then and is written on', async (context) => {
  const opened = await openConsole(context)
  const ann = await divergedPage(opened)
  await ann.getByRole('button', { name: 'Drop my changes' }).click()
  await editorOf(ann).getByText('Present: Ben').waitFor()
  await badge(ann, 'saved').waitFor()
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type(' and Ann')
  await badge(ann, 'saved').waitFor()
  expect(JSON.stringify(await (await opened.rest('ann')).getDocument('minutes'))).toContain('Present: Ben and Ann')
})

it('[WS-22] a document that the relay does not know any more, since its store was put back, is not told as deleted, and its words can be kept', async (context) => {
  const { relay, rest, openAs, allowProblems } = await openConsoleAlone(context)
  allowProblems(/WebSocket connection to/, /Failed to load resource/, /ERR_/)
  const before = `${relay.dataDir}-before`
  await relay.stop()
  cpSync(relay.dataDir, before, { recursive: true })
  await relay.restart()
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await relay.stop()
  await ann.locator('[data-link=waiting]').waitFor()
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type(' and me')
  await badge(ann, 'local').waitFor()
  rmSync(relay.dataDir, { recursive: true })
  renameSync(before, relay.dataDir)
  await relay.restart()
  await badge(ann, 'refused').waitFor()
  const notice = ann.locator('.document-notices')
  expect(await notice.textContent()).toContain('The relay does not know this document any more')
  await ann.getByRole('button', { name: 'Keep as a new document' }).click()
  await ann.waitForURL(({ hash }) => hash.startsWith('#doc/') && !hash.startsWith('#doc/minutes'))
  await badge(ann, 'saved').waitFor()
  const owner = await rest('ann')
  const [copy] = await owner.listDocuments()
  expect(JSON.stringify(await owner.getDocument(copy?.id ?? ''))).toContain('Present: Ann and me')
})
