import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { until } from '@docrelay/server/test/relay-under-test'
import { type ConsoleUnderTest, openConsole, openConsoleAlone } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

/** Opens Ann's page of a stored document. */
async function openMinutes<Opened extends ConsoleUnderTest>(opened: Opened) {
  await (await opened.rest('ann')).putDocument('minutes', minutes())
  const ann = await opened.openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  return { ...opened, ann }
}

it('[CON-22] the page shows "saved" only when the relay has acknowledged the edits', async (context) => {
  const { rest, ann, frames } = await openMinutes(await openConsole(context))
  frames.hold(TAG.syncAck)
  await editorOf(ann).click()
  await ann.keyboard.type('Held')
  await until('the acknowledgement to be held', () => frames.held > 0)
  await badge(ann, 'saving').waitFor()
  // Only the ack is held back: the words are stored, and others have them.
  await until('the words on the relay', async () =>
    JSON.stringify(await (await rest('ann')).getDocument('minutes')).includes('Held'),
  )
  expect(await ann.locator('[data-saved]').getAttribute('data-saved')).toBe('saving')
  await ann.getByText(/^Not saved since/).waitFor()
  frames.release()
  await badge(ann, 'saved').waitFor()
  await ann.getByText(/^Not saved since/).waitFor({ state: 'detached' })
})

it('[CON-22] words typed while the relay is away stay in the page and are saved when it is back', async (context) => {
  const { relay, rest, ann, allowProblems } = await openMinutes(await openConsoleAlone(context))
  // The browser logs every socket that it could not open.
  allowProblems(/WebSocket connection to/, /Failed to load resource/, /ERR_/)
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type('Before. ')
  await badge(ann, 'saved').waitFor()
  await relay.stop()
  await ann.locator('[data-link=waiting]').waitFor()
  await ann.keyboard.type('Meanwhile. ')
  await badge(ann, 'local').waitFor()
  await relay.restart()
  await badge(ann, 'saved').waitFor()
  await ann.keyboard.type('After.')
  await badge(ann, 'saved').waitFor()
  const body = JSON.stringify(await (await rest('ann')).getDocument('minutes'))
  expect(body).toContain('Before. Meanwhile. After.')
})

it('[CON-22] a page with unsaved words asks before it is closed', async (context) => {
  const { ann, frames } = await openMinutes(await openConsole(context))
  frames.hold(TAG.syncAck)
  await editorOf(ann).click()
  await ann.keyboard.type('x')
  await badge(ann, 'saving').waitFor()
  const asked = ann.waitForEvent('dialog')
  const closing = ann.close({ runBeforeUnload: true })
  const dialog = await asked
  expect(dialog.type()).toBe('beforeunload')
  await Promise.all([dialog.accept(), closing])
})
