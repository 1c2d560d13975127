import { readTokens } from '../tools/pictures.ts'
import { type FoundTool, type JsonObject, TOOLSETS, type ToolServer } from '../tool.ts'

const OBJECT = { type: 'object' } as const
const HINTS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const

/** Three tools for tests: one reads, one writes, and one runs until the test ends it. */
export interface FakeTools extends ToolServer {
  readonly calls: { readonly name: string; readonly args: JsonObject; readonly context: Parameters<ToolServer['call']>[2] }[]
  /** Ends all slow calls that are waiting. */
  finish(): void
  /** Number of slow calls that were aborted. */
  readonly aborted: number
  /** Resolves when a slow call is waiting. */
  waiting(): Promise<void>
}

export function fakeTools(): FakeTools {
  const calls: FakeTools['calls'] = []
  const waits = new Set<() => void>()
  let begun = Promise.withResolvers<void>()
  let aborted = 0
  const tools: Readonly<
    Record<string, { readonly bucket: 'read' | 'write'; run(call: FakeTools['calls'][number]): Promise<JsonObject> }>
  > = {
    service_look: { bucket: 'read', run: async ({ args }) => success({ seen: args }) },
    service_change: {
      bucket: 'write',
      run: async ({ context }) => success({ by: context.access.sub, in: context.access.workspaceId }),
    },
    service_slow: {
      bucket: 'write',
      async run({ context }) {
        context.progress({ progress: 1, total: 2, message: 'half' })
        await new Promise<void>((resolve) => {
          waits.add(resolve)
          context.signal.addEventListener('abort', () => resolve())
          begun.resolve()
        })
        if (context.signal.aborted) {
          aborted++
          throw context.signal.reason
        }
        return success({ slow: true })
      },
    },
    service_broken: { bucket: 'read', run: () => Promise.reject(new Error('secret detail')) },
    service_refuses: {
      bucket: 'write',
      run: async () => ({
        content: [{ type: 'text', text: 'ERR_LAST_PAGE: it is the last one.' }],
        structuredContent: { code: 'ERR_LAST_PAGE', message: 'it is the last one.' },
        isError: true,
      }),
    },
  }
  return {
    toolsets: TOOLSETS,
    calls,
    get aborted() {
      return aborted
    },
    finish() {
      for (const resolve of waits) resolve()
      waits.clear()
      begun = Promise.withResolvers()
    },
    waiting: () => begun.promise,
    list: ({ toolsets, readonly, isViewer }) =>
      Object.entries(tools)
        .filter(([, { bucket }]) => bucket === 'read' || !(readonly || isViewer || toolsets?.includes('prose') === false))
        .map(([name]) => ({
          name,
          title: name,
          description: name,
          inputSchema: OBJECT,
          outputSchema: OBJECT,
          annotations: HINTS,
        })),
    find(name, args): FoundTool {
      const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
      return tool
        ? { kind: 'known', bucket: tool.bucket, tokens: readTokens(args) }
        : { kind: 'unknown', nearest: name === 'service_lok' ? 'service_look' : null }
    },
    async call(name, args, context) {
      const call = { name, args, context }
      calls.push(call)
      const tool = tools[name]
      if (tool === undefined) throw new Error(`no tool ${name}`)
      return tool.run(call)
    },
  }
}

function success(structured: JsonObject): JsonObject {
  return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured, isError: false }
}
