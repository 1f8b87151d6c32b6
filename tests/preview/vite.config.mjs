import react from '@vitejs/plugin-react';

export default {
  plugins: [react()],
  define: { 'process.env': {}, global: 'globalThis' },
  build: { target: 'es2022', minify: true, chunkSizeWarningLimit: 20000 },
  logLevel: 'warn',
};
