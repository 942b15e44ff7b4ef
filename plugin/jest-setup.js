// Jest setup provided by Grafana scaffolding
import './.config/jest-setup';

// Combobox measures its options.
HTMLCanvasElement.prototype.getContext = () => ({ measureText: (text) => ({ width: text.length * 8 }) });
