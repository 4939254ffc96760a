export { run } from "./Cli.ts"
export * as NodeServer from "./http/NodeServer.ts"
