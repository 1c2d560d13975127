import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'

const MINUTES = { name: 'Weekly minutes', richTextPages: [{ id: 'p', name: 'Minutes', content: '<p>Present: Ann</p>' }] }

it('[SHARE-4] anybody who opens a share link can redeem it, until it is revoked', async (context) => {
  const { rest, openAs, signInAs, allowProblems } = await openConsole(context)
  allowProblems(/status of 404/)
  await (await rest('ann')).putDocument('minutes', MINUTES)
  const ann = await openAs('ann', '#doc/minutes?panel=sharing')
  await ann.getByRole('button', { name: 'Make a link' }).click()
  const token = new URL(await ann.getByLabel('The new link.').inputValue()).hash.replace(/^#(share=)?/, '')

  const ben = await signInAs('ben', `#share=${token}`)
  await ben.getByText('Present: Ann').waitFor()
  expect(new URL(ben.url()).hash).toBe('#doc/minutes')

  await ann.getByRole('button', { name: /^Take back the link/ }).click()
  await ann.getByText('There is no link at the moment.').waitFor()
  await ben.evaluate((hash) => {
    location.hash = hash
  }, `#share=${token}`)
  await ben.getByRole('alert').getByText('This link opens nothing').waitFor()
})

it('[PERM-2] the open page follows a new share and a lowered level at once', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', MINUTES)
  const ann = await openAs('ann', '#doc/minutes?panel=sharing')
  await ann.getByLabel('Share with').fill('ben')
  await ann.getByRole('button', { name: 'Share', exact: true }).click()
  await ann.getByLabel('What ben may do').waitFor()

  const ben = await openAs('ben', '#doc/minutes?panel=sharing')
  await ben.getByText('This document is shared with you: you may edit it.').waitFor()
  const text = ben.locator('.ProseMirror')
  await expect.poll(() => text.getAttribute('contenteditable')).toBe('true')
  await ann.getByLabel('What ben may do').selectOption('view')
  await expect.poll(() => text.getAttribute('contenteditable')).toBe('false')
  await ben.getByText('This document is shared with you: you may read it.').waitFor()
})

it('[REST-23] a document can be given to another owner, who then decides; the former owner can still edit', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', MINUTES)
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [cleo, ben] = [await rest('cleo'), await openAs('ben', '#doc/minutes?panel=sharing')]
  await ben.getByText('This document is shared with you: you may edit it.').waitFor()
  expect(await ben.getByRole('button', { name: 'Give it another owner' }).count()).toBe(0)
  const ann = await openAs('ann', '#doc/minutes?panel=sharing')
  await ann.getByRole('button', { name: 'Give it another owner' }).click()
  const give = ann.getByRole('button', { name: 'Give it away' })
  await ann.keyboard.type('   ')
  await ann.keyboard.press('Enter')
  expect(await give.isDisabled()).toBe(true)
  await ann.keyboard.type('ben')
  await give.click()
  await ben.getByText('You own this document.').waitFor()
  await ben.getByRole('button', { name: 'Give it another owner' }).waitFor()
  const [stored] = await owner.listDocuments()
  expect([stored?.ownerId, await cleo.listDocuments()]).toEqual(['ben', []])
  await ann.locator('.ProseMirror').click()
  await ann.keyboard.type('Ann still writes. ')
  await ben.locator('.ProseMirror').getByText('Ann still writes.').waitFor()
})
