/** Types for the package s3rver, which comes without types. */
declare module '@20minutes/s3rver' {
  interface ReadOptions {
    readonly start?: number
    readonly end?: number
  }

  export default class S3rver {
    readonly middleware: ((context: { readonly path: string; app: object }, next: () => Promise<void>) => Promise<void>)[]
    readonly store: { getObject(bucket: string, key: string, options?: ReadOptions): Promise<unknown> }
    constructor(options: Readonly<Record<string, unknown>>)
    run(): Promise<{ readonly port: number }>
    close(): Promise<void>
  }
}
