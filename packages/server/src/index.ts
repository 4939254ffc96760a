export { run } from "./Cli.ts"
export * as NodeServer from "./NodeServer.ts"
