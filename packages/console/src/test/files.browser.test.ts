import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { openConsole, openConsoleAlone } from './open-console.ts'

const MINUTES = { name: 'Weekly minutes', richTextPages: [{ id: 'p', name: 'Minutes', content: '<p>Present: Ann</p>' }] }
const file = (name: string, mimeType: string, content: string) => ({ name, mimeType, buffer: Buffer.from(content) })

it('[BLOB-3] a file is put on a page, saved by another person and removed', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const ann = await rest('ann')
  await ann.putDocument('minutes', MINUTES)
  await ann.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [hers, his] = await Promise.all([
    openAs('ann', '#doc/minutes?panel=files'),
    openAs('ben', '#doc/minutes?panel=files', { acceptDownloads: true }),
  ])
  await hers.locator('.files-panel input[type=file]').setInputFiles([file('notes.txt', 'text/plain', 'hello')])
  const save = his.getByRole('button', { name: 'Save notes.txt to this device' })
  const [download] = await Promise.all([his.waitForEvent('download'), save.click()])
  expect([download.suggestedFilename(), await text(await download.createReadStream())]).toEqual(['notes.txt', 'hello'])

  await his.getByRole('button', { name: 'Remove notes.txt from the document' }).click()
  await his.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await hers.getByText('No page of this document uses a file.').waitFor()
})

it('[LIM-4] a file for which there is no space is refused in words before it is sent', async (context) => {
  const { rest, openAs } = await openConsole(context, { quota_bytes: 5_000 })
  await (await rest('ann')).putDocument('minutes', MINUTES)
  const ann = await openAs('ann', '#doc/minutes?panel=files')
  const sent: string[] = []
  ann.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await ann.locator('.files-panel input[type=file]').setInputFiles([file('huge.bin', 'application/zip', 'x'.repeat(6000))])
  await ann.locator('.files-panel').getByText('huge.bin has 6 kB, and the workspace has').waitFor()
  expect(sent.filter((url) => url.includes('/blobs/'))).toEqual([])
})

it('[REST-28] usage shows the used amounts, the limits, and where the limits come from', async (context) => {
  const { rest, openAs } = await openConsoleAlone(context, { env: { RELAY_STORAGE_QUOTA_BYTES: '50000' } })
  await (await rest('ann')).putDocument('minutes', MINUTES)
  const ann = await openAs('ann', '#usage')
  await ann.getByText(/ of 50 kB/).waitFor()
  await ann.getByText('This limit is set by whoever runs this relay.').first().waitFor()
  await ann.getByRole('meter', { name: 'Write rate' }).waitFor()
})
