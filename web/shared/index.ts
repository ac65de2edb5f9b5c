// What tests under node import.
export { Engine, ScenarioError } from './engine';
export { Run } from './run';
export { Scene } from './scene';
