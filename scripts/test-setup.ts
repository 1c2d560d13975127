// Runs before each test file.
import { vi } from 'vitest'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'

vi.setConfig({ testTimeout: patience(20_000), hookTimeout: patience(60_000), expect: { poll: { timeout: patience(1_000) } } })
