import { describe, expect, it } from 'vitest'
import { skillText } from './skill-text.ts'

const SOURCE = [
  '1. Read.',
  '<!-- if draw paint -->',
  '2. Draw.',
  '3. Paint.',
  '<!-- else -->',
  '2. Describe.',
  '<!-- end -->',
  '4. Check.',
].join('\n')

describe('the text of a recipe', () => {
  it('[AG-96] keeps the steps of tools that the build has', () => {
    expect(skillText(SOURCE, new Set(['draw', 'paint']))).toBe('1. Read.\n2. Draw.\n3. Paint.\n4. Check.')
  })

  it('[AG-96] takes the other steps when one of the tools is missing, and numbers them anew', () => {
    expect(skillText(SOURCE, new Set(['draw']))).toBe('1. Read.\n2. Describe.\n3. Check.')
  })

  it('[AG-96] leaves numbers in examples as they are, also in a fence within a fence', () => {
    const example = '````markdown\n5. five\n```\n7. seven\n```\n9. nine\n````'
    expect(skillText(`1. One.\n${example}\n8. Two.`, new Set())).toBe(`1. One.\n${example}\n2. Two.`)
  })
})
